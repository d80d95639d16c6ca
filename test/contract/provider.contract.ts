import { afterEach, beforeEach, describe } from '@jest/globals';
import { UndiciTransport } from '../../src/ai/upstream/undici.transport.js';
import { describeAborts } from './provider.aborts.js';
import { describeFailures } from './provider.failures.js';
import { describeReplies } from './provider.replies.js';
import { describeRequests } from './provider.requests.js';
import type { ProviderBench, ProviderRig, Subject } from './provider.rig.js';
import { describeSecrets } from './provider.secrets.js';
import { describeSending } from './provider.sending.js';
import { describeStreams } from './provider.streams.js';

/** What every adapter does, whatever its provider speaks. */
export function describeProvider(rig: ProviderRig): void {
  describe(`the adapter for ${rig.kind}`, () => {
    let transport: UndiciTransport;
    let bench: ProviderBench | undefined;

    beforeEach(async () => {
      transport = new UndiciTransport();
      bench = await rig.start(transport);
    });
    afterEach(async () => {
      await transport.close();
      await bench?.close();
      bench = undefined;
    });

    const subject: Subject = {
      rig,
      bench: () => {
        if (bench === undefined) throw new Error('there is no bench outside of a test');
        return bench;
      },
    };
    describe('says a request to the provider', () => {
      describeRequests(subject);
    });
    describe('tells a whole answer', () => {
      describeReplies(subject);
    });
    describe('tells a stream', () => {
      describeStreams(subject);
    });
    describe('tells a failure', () => {
      describeFailures(subject);
    });
    describe('ends at its signal', () => {
      describeAborts(subject);
    });
    describe('is in time', () => {
      describeSending(subject);
    });
    describe('keeps the key', () => {
      describeSecrets(subject);
    });
  });
}
