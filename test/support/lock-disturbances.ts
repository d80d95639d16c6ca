import { rm } from 'node:fs/promises';
import type { SeededRandom } from '../simulation/seeded.random.js';
import type { Disturbance } from './chaos.js';
import type { CommandFault, FaultProxy, MessageFault } from './fault-proxy.js';
import type { LockFleet } from './lock-fleet.js';
import { pass } from './pass.js';
import { ask } from './redis-sentinel.js';
import type { RedisServer } from './redis-server.js';

/** A process that stands still, for less and for more than its leases; one that dies, and its successor. */
export function workerDisturbances(fleet: LockFleet, size: number): readonly Disturbance[] {
  return Array.from({ length: size }, (_, index) => index).flatMap((index) => {
    const target = `worker ${index}`;
    return [
      {
        name: `${target} stands still`,
        target,
        weight: 2,
        happen: async (random: SeededRandom) => {
          const worker = fleet.at(index);
          worker.pause();
          await pass(50 + random.next() ** 2 * 3_500);
          worker.resume();
        },
      },
      { name: `${target} is killed`, target, weight: 0.7, happen: () => fleet.replace(index) },
    ];
  });
}

/** What happens to a Redis that keeps its data. It must run with `--appendonly yes --appendfsync always`. */
export function serverDisturbances(server: RedisServer): readonly Disturbance[] {
  const target = 'redis';
  const order = (weight: number, ...words: readonly [string, ...string[]]): Disturbance => ({
    name: words.join(' '),
    target,
    weight,
    happen: async () => {
      await ask(server, (redis) => redis.call(...words));
    },
  });
  return [
    {
      name: 'redis stands still',
      target,
      weight: 3,
      happen: async (random) => {
        server.freeze();
        await pass(50 + random.next() ** 2 * 3_000);
        server.thaw();
      },
    },
    order(2, 'CLIENT', 'KILL', 'TYPE', 'normal'),
    order(2, 'CLIENT', 'KILL', 'TYPE', 'pubsub'),
    order(2, 'SCRIPT', 'FLUSH'),
    {
      name: 'redis crashes and comes back',
      target,
      weight: 2,
      happen: async (random) => {
        const downMs = random.next() * 800;
        await server.crash();
        await pass(downMs);
        await server.restart();
      },
    },
  ];
}

/** Redis comes back with nothing. @param losses takes down when, µs of the wall clock */
export function dataLoss(server: RedisServer, losses: number[]): Disturbance {
  return {
    name: 'redis crashes and comes back empty',
    target: 'redis',
    weight: 1,
    happen: async () => {
      await server.crash();
      losses.push(Date.now() * 1_000);
      await rm(`${server.folder}/appendonlydir`, { recursive: true, force: true });
      await server.restart();
    },
  };
}

/** What happens on the way between the processes and Redis. */
export function networkDisturbances(proxy: FaultProxy): readonly Disturbance[] {
  const target = 'network';
  const lose = (name: string, weight: number, fault: CommandFault): Disturbance => ({
    name,
    target,
    weight,
    happen: async (random) => {
      const share = 0.05 + random.next() * 0.3;
      const rule = proxy.onCommand(([word]) => word === 'evalsha' && Math.random() < share, fault, 4);
      await pass(100 + random.next() * 600);
      rule.remove();
    },
  });
  const tell = (name: string, fault: MessageFault): Disturbance => ({
    name,
    target,
    weight: 2,
    happen: async (random) => {
      const rule = proxy.onMessage(() => Math.random() < 0.7, fault);
      await pass(200 + random.next() * 1_500);
      rule.remove();
    },
  });
  return [
    lose('replies are lost, and the connection with them', 3, 'cut after'),
    lose('commands are lost, and the connection with them', 1, 'cut before'),
    lose('a connection falls silent after a command', 1, 'silence after'),
    lose('replies are late', 2, { delayReplyMs: 700 }),
    tell('messages are lost', 'drop'),
    tell('messages come twice', 'twice'),
    tell('messages are late', { delayMs: 900 }),
    {
      name: 'the network is cut in two',
      target,
      weight: 1,
      happen: async (random) => {
        proxy.partition();
        await pass(100 + random.next() * 2_000);
        proxy.heal();
      },
    },
    {
      name: 'all connections are reset',
      target,
      weight: 1,
      happen: () => {
        proxy.cut();
        return Promise.resolve();
      },
    },
  ];
}
