import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Param } from '@nestjs/common';
import { STATUS_TABLE } from '../../src/http/index.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';

/** As an error of another module would be: with a code of the table, and words for operators. */
@Controller('v1/withheld')
class WithholdingController {
  @Get(':code')
  fail(@Param('code') code: string): never {
    throw Object.assign(new Error('lock "user:zoe" at REDIS_URL'), { code });
  }
}

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({ controllers: [WithholdingController] });
});
afterAll(() => server.close());

async function fail(code: string): Promise<{ status: number; text: string; reported: readonly unknown[] }> {
  const before = server.reported.length;
  const response = await fetch(`${server.url}/v1/withheld/${code}`);
  return { status: response.status, text: await response.text(), reported: server.reported.slice(before) };
}

describe('an error whose words are for operators', () => {
  it.each(['lock_lost', 'store_unavailable'] as const)(
    'is told by its code, and kept for the log: %s',
    async (code) => {
      const { status, text, reported } = await fail(code);
      expect([status, JSON.parse(text)]).toMatchObject([
        STATUS_TABLE[code].status,
        { error: { code, message: STATUS_TABLE[code].text } },
      ]);
      expect(reported).toEqual([expect.objectContaining({ message: 'lock "user:zoe" at REDIS_URL' })]);
    },
  );

  it.each(['lock_busy', 'lock_timeout'] as const)(
    'is an ordinary refusal, which the log needs no error for: %s',
    async (code) => {
      const { status, text, reported } = await fail(code);
      expect([status, JSON.parse(text)]).toMatchObject([409, { error: { code, message: STATUS_TABLE[code].text } }]);
      expect(reported).toEqual([]);
    },
  );

  it('is an internal error where it says so itself', async () => {
    const { status, text, reported } = await fail('internal_error');
    expect([status, text]).toEqual([500, expect.stringMatching(/"internal error; request id [^"]+"/)]);
    expect(reported).toHaveLength(1);
  });
});
