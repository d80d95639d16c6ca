import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { RedisStore, type RedisStoreOptions, StoreError } from '../../src/store/index.js';
import { startAllFeatures, useAllFeatures, useLocks } from '../support/all-features.js';
import { type Certificates, makeCertificates } from '../support/certificates.js';
import { COUNT } from '../support/counter-script.js';
import { documentedCommands } from '../support/documented-acl.js';
import { eventually } from '../support/eventually.js';
import type { RedisKind } from '../support/lock-grounds.js';
import { ROOT } from '../support/planted-project.js';
import { isFullProof } from '../support/proof-scale.js';
import { startCluster, startSentinel, startStandalone } from '../support/redis-kinds.js';
import { ask } from '../support/redis-sentinel.js';

jest.setTimeout(120_000);

/** What connections send, besides the commands of scripts. */
const OF_CONNECTIONS = [
  ...['evalsha', 'eval', 'del', 'info', 'ping', 'scan', 'select', 'wait'],
  ...['publish', 'subscribe', 'unsubscribe', 'client|setname'],
];
/** What Redis allows to everybody, and what tests ask. */
const OF_NOBODY = ['auth', 'acl|log', 'config|resetstat', 'cluster|keyslot', 'cluster|slots'];
/** What servers say to each other. */
const AMONG_SERVERS = /^(replconf|psync|role|replicaof|slaveof|multi|exec|config\|rewrite|client\|kill|cluster\|)/;

const KINDS = [
  { kind: 'standalone', start: startStandalone },
  ...(isFullProof
    ? [
        { kind: 'sentinel', start: startSentinel },
        { kind: 'cluster', start: startCluster },
      ]
    : []),
];

function commandsOfScripts(): readonly string[] {
  const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.lua'),
  );
  const calls = files.flatMap((file) => [
    ...readFileSync(`${ROOT}src/${file}`, 'utf8').matchAll(/^(?!\s*--).*?\bp?call\(\s*(?:'([A-Z]+)'|([^)]*))/gm),
  ]);
  return calls.map(([line, name]) => name?.toLowerCase() ?? `not to be read: ${line}`);
}

describe('the rights that docs/deployment.md gives', () => {
  it('are those that scripts and connections use, and no more', () => {
    const used = new Set([...commandsOfScripts(), ...OF_CONNECTIONS, 'time']);
    expect(documentedCommands('server').toSorted()).toEqual([...used].toSorted());
  });
});

describe.each(KINDS)('$kind with TLS only, certificates of both sides, and the documented user', ({ start }) => {
  let certificates: Certificates;
  let redis: RedisKind;
  beforeAll(async () => {
    certificates = await makeCertificates();
    redis = await start({ tls: certificates, isRestricted: true });
    await Promise.all(redis.servers.map((server) => ask(server, (client) => client.config('RESETSTAT'))));
  });
  afterAll(async () => {
    await redis.stop();
    await certificates.remove();
  });

  it('has all that every feature needs, and is asked for nothing else', async () => {
    const rig = await startAllFeatures(redis.environment);
    const faults = await useAllFeatures(rig).finally(() => rig.close());
    const store = new RedisStore({ ...redis.options('coordinator:'), connectionName: 'locks' });
    expect([...faults, ...(await useLocks(store).finally(() => store.close()))]).toEqual(['k']);
    expect(await refusals()).toEqual([]);
    const allowed = [...documentedCommands('server'), ...documentedCommands('cluster'), ...OF_NOBODY];
    const sent = await commands();
    expect(sent.filter((name) => !allowed.includes(name) && !AMONG_SERVERS.test(name))).toEqual([]);
    expect(sent).toEqual(expect.arrayContaining(['evalsha', 'subscribe', 'publish', 'xadd', 'zadd', 'bitfield']));
  });

  it('is not to be had without that certificate, password or prefix, and is told which', async () => {
    const options = redis.options('coordinator:');
    const { tlsCa: _, ...trustless } = { tlsCa: '', ...options };
    const { tlsCert: __, tlsKey: ___, ...bare } = { tlsCert: '', tlsKey: '', ...options };
    const strangers = [trustless, { ...options, password: 'wrong' }, redis.options('other:'), bare];
    // Where a server wants a certificate, it may hang up before it has said so; of sentinels ioredis tells no more than that.
    const untrusted = redis.kind === 'sentinel' ? undefined : 'wrong_tls';
    const reasons = [untrusted, 'wrong_password', 'no_permission', undefined];
    const meet = async (stranger: RedisStoreOptions, reason: string | undefined): Promise<void> => {
      const store = new RedisStore(stranger);
      const isTold = (error: unknown): boolean =>
        error instanceof StoreError && (reason === undefined || Reflect.get(error, 'reason') === reason);
      const run = (): Promise<unknown> => store.run(COUNT, [`${stranger.keyPrefix}{x}`], [1]);
      await eventually(() => run().then(() => false, isTold)).finally(() => store.close());
    };
    await Promise.all(strangers.map((stranger, index) => meet(stranger, reasons[index])));
  });

  async function refusals(): Promise<readonly unknown[]> {
    return (await Promise.all(redis.servers.map((server) => ask(server, (client) => client.acl('LOG'))))).flat();
  }

  /** All that ran on any master, scripts' commands included; replicas hear of it in other words. */
  async function commands(): Promise<readonly string[]> {
    const masters = await redis.masters();
    const stats = await Promise.all(masters.map((server) => ask(server, (client) => client.info('commandstats'))));
    return [
      ...new Set(stats.flatMap((text) => [...text.matchAll(/^cmdstat_(\S+?):/gm)].map(([, name]) => name ?? ''))),
    ];
  }
});
