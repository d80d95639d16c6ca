import { describe, expect, it } from '@jest/globals';
import { validationError } from '../../../src/http/index.js';

const fault = (property: string, constraints: Record<string, string>, children: object[] = []): never =>
  ({ property, constraints, children }) as never;

describe('validationError()', () => {
  it('takes the first fault’s path as param and lists all', () => {
    const nested = fault('messages', {}, [
      fault('0', {}, [fault('role', { isIn: 'role must be user' })]),
      fault('12', { a: 'is bad' }),
    ]);
    const error = validationError([nested, fault('n', { max: 'n is too large', min: 'n is odd' })]);
    expect(error).toMatchObject({
      code: 'invalid_request',
      param: 'messages[0].role',
      message: 'messages[0].role: role must be user; messages[12]: is bad; n: n is too large; n: n is odd',
    });
  });

  it('stops listing at ten', () => {
    const error = validationError(
      Array.from({ length: 13 }, (_, index) => fault(`p${String(index)}`, { x: 'is bad' })),
    );
    expect(error.message).toMatch(/p9: is bad; and 3 more$/);
  });

  it('has something to say about nothing', () => {
    expect(validationError([])).toMatchObject({ code: 'invalid_request', param: undefined });
  });
});
