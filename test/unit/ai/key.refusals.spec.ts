import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { KeyService } from '../../../src/ai/keys/key.service.js';
import { at, FIVE_MINUTES, KeyRig, REFUSED } from '../../support/key-rig.js';

describe('a key that is refused for a call', () => {
  let rig: KeyRig;
  let keys: KeyService;

  beforeEach(() => {
    rig = new KeyRig();
  });
  afterEach(() => rig.close());

  /** How long it is out now, ms. */
  const outFor = async (): Promise<number> => {
    let ms = 0;
    for (let look = 0; look < 100; look += 1) {
      const leftMs = rig.fleet.keys.parkingOf('one#1')?.leftMs;
      if (leftMs === undefined) break;
      await rig.settle(leftMs);
      ms += leftMs;
    }
    return ms;
  };

  it('is out for a time that doubles, whatever its provider says of it', async () => {
    keys = await rig.start();
    const times: number[] = [];
    for (let refusal = 0; refusal < 6; refusal += 1) {
      keys.failed(at('one#1').upstream, REFUSED);
      times.push(Math.round((await outFor()) / 60_000));
    }
    expect(times).toEqual([1, 2, 4, 8, 15, 15]);
  });

  it('is out as long as the first time where it was good for a while', async () => {
    keys = await rig.start();
    keys.failed(at('one#1').upstream, REFUSED);
    await outFor();
    await rig.settle(61_000);
    keys.failed(at('one#1').upstream, REFUSED);
    expect(Math.round((await outFor()) / 60_000)).toBe(1);
  });

  it('is not out for longer by the calls that were under way with it', async () => {
    keys = await rig.start();
    for (let call = 0; call < 20; call += 1) {
      keys.failed(at('one#1').upstream, REFUSED);
      await rig.settle(1_000);
    }
    expect(Math.round((await outFor()) / 1_000)).toBe(40);
  });

  it('is out until a check passes where its provider refuses it too', async () => {
    keys = await rig.start();
    rig.answers['key-1'] = { status: 403 };
    keys.failed(at('one#1').upstream, REFUSED);
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'refused' });
    rig.answers['key-1'] = { status: 200, body: { tier: 'enterprise' } };
    await rig.settle(FIVE_MINUTES);
    expect(rig.fleet.keys.parkingOf('one#1')).toBeUndefined();
  });
});
