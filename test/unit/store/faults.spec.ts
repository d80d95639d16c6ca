import { describe, expect, it } from '@jest/globals';
import { toApiError } from '../../../src/http/index.js';
import { storeFault } from '../../../src/store/redis.fault.js';
import { StoreError, StoreTimeoutError } from '../../../src/store/index.js';

function reply(message: string, fields: object = {}): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' }, fields);
}

describe('storeFault()', () => {
  it.each([
    ["READONLY You can't write against a read only replica."],
    ['LOADING Redis is loading the dataset in memory'],
    ['MASTERDOWN Link with MASTER is down'],
    ['CLUSTERDOWN Hash slot not served'],
    ['TRYAGAIN Multiple keys request during rehashing of slot'],
    ['NOREPLICAS Not enough good replicas to write.'],
    ["ERR Error running script (call to f_1): @user_script:12: READONLY You can't write against a read only replica."],
    ["OOM command not allowed when used memory > 'maxmemory'."],
  ])('says "again later": %s', (message) => {
    expect(storeFault(reply(message), 'cluster')).toMatchObject({
      name: 'StoreUnavailableError',
      isRetryable: true,
      mayHaveRun: false,
    });
  });

  it.each([
    ['WRONGPASS invalid username-password pair or user is disabled.', 'wrong_password'],
    ['NOAUTH Authentication required.', 'wrong_password'],
    ['ERR invalid password', 'wrong_password'],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'no_permission'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'wrong_type'],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'cross_slot'],
    ['MOVED 1234 10.0.0.1:6379', 'wrong_topology'],
    ['ERR SELECT is not allowed in cluster mode', 'wrong_topology'],
    ['ERR DB index is out of range', 'wrong_database'],
    ['ERR invalid DB index', 'wrong_database'],
    ["NOPERM this user has no permissions to run the 'select' command", 'no_permission'],
    [
      "ERR user_script:9: attempt to index local 'entry' (a nil value) script: 3f5, on @user_script:9.",
      'script_failed',
    ],
    ['ERR value is not an integer or out of range script: 3f5, on @user_script:2.', 'script_failed'],
    ['ERR Error running script (call to f_1): @user_script:3: user_script:3: attempt to compare', 'script_failed'],
    ['ERR Error compiling script (new function): user_script:1: unexpected symbol', 'script_failed'],
    ['WRONGTYPE Operation against a key script: 3f5, on @user_script:2.', 'wrong_type'],
  ])('says what to change: %s', (message, reason) => {
    const fault = storeFault(reply(message), 'standalone');
    expect(fault).toMatchObject({
      name: 'StoreConfigurationError',
      reason,
      isRetryable: false,
      code: 'store_unavailable',
    });
    expect(fault).toHaveProperty('cause.message', message);
  });

  it('tells what was never sent from what may have run', () => {
    const offline = new Error("Stream isn't writeable and enableOfflineQueue options is false");
    expect(storeFault(offline, 'standalone')).toMatchObject({ mayHaveRun: false, isRetryable: true });
    expect(storeFault(new Error('Connection is closed.'), 'standalone')).toMatchObject({ mayHaveRun: true });
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    expect(storeFault(refused, 'sentinel')).toMatchObject({ mayHaveRun: false, isRetryable: true });
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
    expect(storeFault(reset, 'sentinel')).toMatchObject({ mayHaveRun: true });
  });

  it('says where the ACL keeps a user from its database', () => {
    const fault = storeFault(reply("NOPERM this user has no permissions to run the 'select' command"), 'standalone');
    expect(fault).toHaveProperty('message', expect.stringMatching(/SELECT.*REDIS_DB/));
  });

  it('lets anything unknown pass as it is', () => {
    const fault = reply('ERR value is not an integer or out of range');
    expect(storeFault(fault, 'standalone')).toBe(fault);
    expect(storeFault('text', 'standalone')).toBe('text');
  });

  it('keeps the words of a command, a password among them, out of the error', () => {
    const fault = storeFault(reply('WRONGPASS no', { command: { name: 'auth', args: ['s3cret'] } }), 'standalone');
    expect(fault).not.toHaveProperty('cause.command');
  });

  it('becomes a 503 over HTTP', () => {
    const error = new StoreTimeoutError('acquire', 1_000);
    expect(error).toBeInstanceOf(StoreError);
    expect(toApiError(error)).toMatchObject({ code: 'store_unavailable', isRetryable: true });
  });
});
