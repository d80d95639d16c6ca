import { afterAll, beforeAll, describe, jest } from '@jest/globals';
import { admissionBenchOn } from '../support/admission-bench.js';
import { answerBenchOn } from '../support/answer-bench.js';
import { ClockedTopology } from '../support/clocked-topology.js';
import { conversationBenchOn } from '../support/conversation-bench.js';
import { fleetBenchOn } from '../support/fleet-bench.js';
import { ledgerBenchOn } from '../support/ledger-bench.js';
import type { RedisKind } from '../support/lock-grounds.js';
import { describeAdmissionStore } from './admission-store.contract.js';
import { describeConversationStore } from './conversation-store.contract.js';
import { describeFleetStore } from './fleet-store.contract.js';
import { describeLedgerStore } from './ledger-store.contract.js';
import { describeAnswerStore } from './reuse-store.contract.js';

/** What pods share besides locks, on several servers: no script reaches for keys of two slots. */
export function describeStoresAcross(name: string, start: () => Promise<RedisKind>): void {
  describe(name, () => {
    describeStores(start);
  });
}

function describeStores(start: () => Promise<RedisKind>): void {
  let redis: RedisKind;
  let topology: ClockedTopology;
  let benches = 0;
  const prefix = (): string => `t${String((benches += 1))}:`;

  jest.setTimeout(120_000);
  beforeAll(async () => {
    redis = await start();
    topology = await ClockedTopology.start(redis);
  });
  afterAll(async () => {
    topology.close();
    await redis.stop();
  });

  describeAdmissionStore('RedisAdmissionStore', () => admissionBenchOn(topology, prefix()));
  describeAnswerStore('RedisAnswerStore', () => answerBenchOn(topology, prefix()));
  describeLedgerStore('RedisLedgerStore', () => ledgerBenchOn(topology, prefix()));
  describeConversationStore('RedisConversationStore', () => conversationBenchOn(topology, prefix()));
  describeFleetStore('RedisFleetStore', () => fleetBenchOn(topology, prefix()));
}
