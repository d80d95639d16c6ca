import { describe, expect, it } from '@jest/globals';
import { errorCodeOf } from '../../../src/observability/error-code.js';

describe('errorCodeOf()', () => {
  it("reads the code of a body in OpenAI's error shape", () => {
    expect(errorCodeOf('{"error":{"message":"m","type":"t","param":null,"code":"not_found"}}')).toBe('not_found');
  });

  it.each([
    undefined,
    Buffer.from('{"error":{"code":"x"}}'),
    '',
    'text',
    '{',
    '{}',
    '{"error":null}',
    '{"error":"x"}',
    '{"error":{}}',
    '{"error":{"code":null}}',
    '{"error":{"code":7}}',
    `{"error":{"code":"x","message":"${'y'.repeat(20_000)}"}}`,
  ])('finds none in %j', (payload) => {
    expect(errorCodeOf(payload)).toBeUndefined();
  });
});
