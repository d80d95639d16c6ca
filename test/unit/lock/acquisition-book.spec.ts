import { describe, expect, it } from '@jest/globals';
import { Acquisition } from '../../../src/lock/client/acquisition.js';
import { AcquisitionBook } from '../../../src/lock/client/acquisition.book.js';
import { ClientRig } from '../../support/lock-client-rig.js';

const acquisition = (key: string): Acquisition => {
  const usual = { weight: 1, capacity: 1, leaseMs: 1_000, waits: true, minHoldMs: 0, maxHoldMs: Infinity };
  const nobody = { held: () => undefined, failed: () => undefined, lost: () => undefined };
  return new Acquisition({ key, ...usual, description: '' }, nobody);
};

describe('AcquisitionBook', () => {
  it('keeps a group for a key with acquisitions, and none for one that was only asked for', () => {
    const book = new AcquisitionBook('p');
    const [one, two] = [acquisition('k'), acquisition('k')];
    book.enter(one, 0);
    book.enter(two, 0);
    expect(book.group('k').members).toEqual(new Set([one, two]));
    expect(book.group('other').members.size).toBe(0);
    expect(book.groups().map(({ key }) => key)).toEqual(['k']);
    book.strike(one);
    expect(book.groups()).toHaveLength(1);
    book.strike(two);
    expect(book.groups()).toEqual([]);
    expect(book.all()).toEqual([]);
  });

  it('finds an acquisition by its newest token only', () => {
    const book = new AcquisitionBook('p');
    const one = acquisition('k');
    book.enter(one, 0);
    book.enter(one, 5);
    expect([book.find('p-1'), book.find('p-2'), one.askedAt]).toEqual([undefined, one, 5]);
  });

  it('has an old token that was to ask again ask no more once a new one has taken its place', () => {
    const rig = new ClientRig();
    rig.acquire();
    rig.acquires[0]?.silence();
    rig.acquires[0]?.answer({ kind: 'buried' });
    rig.pass(900);
    expect(rig.acquires.map(({ command }) => command.token)).toEqual(['p-1', 'p-2']);
  });
});
