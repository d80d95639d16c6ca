import { expect, it } from '@jest/globals';
import type { Answer } from '../../support/completion-rig.js';
import { wholeLog } from '../../support/conversation-rig.js';

const page = (first: number, count: number, hasMore: boolean): Answer => {
  const data = Array.from({ length: count }, (_, index) => ({ seq: first + index }));
  return { status: 200, headers: new Headers(), text: '', body: { data, has_more: hasMore } };
};

it('reads a log that is longer than a list', async () => {
  const asked: string[] = [];
  const pages = [page(1, 1_000, true), page(1_001, 250, true), page(1_251, 1, false)];
  const ask = (path: string): Promise<Answer> => {
    asked.push(path);
    return Promise.resolve(pages[asked.length - 1] ?? page(0, 0, false));
  };
  const log = await wholeLog(ask, '/c');
  expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_251 }, (_, index) => index + 1));
  expect(asked.map((path) => /after=(\d+)/.exec(path)?.[1])).toEqual(['0', '1000', '1250']);
});

it('says where a log can’t be read', async () => {
  const refused = { status: 503, headers: new Headers(), text: 'store_unavailable', body: {} };
  await expect(wholeLog(() => Promise.resolve(refused), '/c')).rejects.toThrow('store_unavailable');
});
