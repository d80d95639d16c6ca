import { afterEach, beforeEach } from '@jest/globals';
import type { Redis } from 'ioredis';
import { lockKeys } from '../../src/lock/lock.keys.js';
import type { LockScripts } from '../../src/lock/lock.scripts.js';
import type { CommandFault, Fault, FaultProxy, MessageFault, Words } from './fault-proxy.js';
import { LOCK_SCRIPTS, type ProxiedFleet, type RedisGround } from './lock-grounds.js';
import { LockWorld } from './lock-world.js';
import { ask } from './redis-sentinel.js';
import type { RedisServer } from './redis-server.js';

/** Pods behind proxies, the servers themselves, and a way to look that is not disturbed. */
export class FaultScene {
  private constructor(
    readonly world: LockWorld,
    readonly ground: RedisGround,
    private readonly fleet: ProxiedFleet,
  ) {}

  static async start(ground: RedisGround): Promise<FaultScene> {
    const fleet = await ground.fleetBehindProxies();
    const world = await LockWorld.watched(fleet, ground.fleetUnder(fleet.keyPrefix));
    return new FaultScene(world, ground, fleet);
  }

  get proxies(): readonly FaultProxy[] {
    return this.fleet.proxies;
  }

  get keyPrefix(): string {
    return this.fleet.keyPrefix;
  }

  /** The next command that runs this script, wherever it goes. @returns whether it happened */
  breakScript(name: keyof LockScripts, fault: CommandFault, times = 1): readonly Fault[] {
    return this.proxies.map((proxy) => proxy.onCommand((words) => runs(words, name), fault, times));
  }

  breakCommand(name: string, fault: CommandFault, times = 1): readonly Fault[] {
    return this.proxies.map((proxy) => proxy.onCommand(([word]) => word === name, fault, times));
  }

  breakMessages(fault: MessageFault): void {
    for (const proxy of this.proxies) proxy.onMessage(() => true, fault);
  }

  async down(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.refuse()));
  }

  async up(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.accept()));
  }

  /** Keys of the lock in Redis: its hash, holders, waiters and processes. */
  names(key: string): readonly [string, string, string, string] {
    return lockKeys(this.keyPrefix, key);
  }

  serverOf(key: string): Promise<RedisServer> {
    return this.ground.redis.serverOf(this.names(key)[0]);
  }

  /** Asks the server of a lock, past the proxies. */
  async ask<Answer>(key: string, question: (redis: Redis) => Promise<Answer>): Promise<Answer> {
    return ask(await this.serverOf(key), question);
  }

  /** Asks all that take writes. */
  async askAll<Answer>(question: (redis: Redis) => Promise<Answer>): Promise<readonly Answer[]> {
    return Promise.all((await this.ground.redis.masters()).map((server) => ask(server, question)));
  }

  async close(): Promise<void> {
    for (const server of this.ground.redis.servers) server.thaw();
    for (const proxy of this.proxies) proxy.clear();
    await this.up();
    await this.world.close();
  }
}

/** A scene for each test; at its end nothing is held or waited for. */
export function scenePerTest(ground: () => RedisGround): () => FaultScene {
  let scene: FaultScene | undefined;
  beforeEach(async () => {
    scene = await FaultScene.start(ground());
  });
  afterEach(async () => {
    await scene?.close();
    scene = undefined;
  });
  return () => {
    if (scene === undefined) throw new Error('there is a scene only within a test');
    return scene;
  };
}

function runs([name, script]: Words, wanted: keyof LockScripts): boolean {
  const { sha1, source } = LOCK_SCRIPTS[wanted];
  return (name === 'evalsha' && script === sha1) || (name === 'eval' && script === source);
}
