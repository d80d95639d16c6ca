import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { leadsTo, LeftMaster } from '../../../src/store/left.master.js';

const [OLD, NEW] = [
  { host: '127.0.0.1', port: 1 },
  { host: '127.0.0.1', port: 2 },
];

function connectionTo({ host, port }: { host: string; port: number }): Redis {
  const client = new Redis({ lazyConnect: true });
  return Object.assign(client, { stream: { remoteAddress: host, remotePort: port } });
}

describe('LeftMaster', () => {
  it('is left until its failover must be over, or it is the master again', () => {
    let now = 0;
    const left = new LeftMaster(() => now);
    const [toOld, toNew] = [connectionTo(OLD), connectionTo(NEW)];
    expect(left.isBehind(toOld)).toBe(false);
    left.leave(OLD);
    left.follow(NEW);
    expect([left.isBehind(toOld), left.isBehind(toNew)]).toEqual([true, false]);
    now = 4_999;
    expect(left.isBehind(toOld)).toBe(true);
    now = 5_000;
    expect(left.isBehind(toOld)).toBe(false);
    left.leave(OLD);
    left.follow(OLD);
    expect(left.isBehind(toOld)).toBe(false);
  });

  it('takes a name that can’t be compared for another server', () => {
    const port = 6379;
    expect(leadsTo(connectionTo({ host: '127.0.0.1', port }), { host: 'redis-0', port })).toBe(false);
    expect(leadsTo(connectionTo({ host: '127.0.0.1', port }), { host: '127.0.0.1', port })).toBe(true);
  });
});
