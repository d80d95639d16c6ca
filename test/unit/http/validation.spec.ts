import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { ClosedBody, createValidationPipe, validationError } from '../../../src/http/index.js';

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

/** What every object has; texts of JSON, since a literal's `__proto__` is no member. */
const HIDDEN = '"constructor":1,"toString":{"valueOf":[2]},"hasOwnProperty":null,"prototype":"p","__proto__":{"x":3}';

class Item {
  @IsInt()
  readonly size!: number;
}

class OpenBody {
  @IsOptional()
  @IsString()
  readonly name?: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => Item)
  readonly item?: Item;
}

@ClosedBody(true)
class NarrowBody {
  @IsOptional()
  @IsString()
  readonly name?: string;
}

describe('createValidationPipe()', () => {
  const pipe = createValidationPipe();
  const read = (text: string, metatype: new () => object = OpenBody): Promise<unknown> =>
    pipe.transform(JSON.parse(text), { type: 'body', metatype });

  it.each([
    `{"name":"a",${HIDDEN}}`,
    `{"tools":[{"parameters":{"properties":{${HIDDEN}}}}]}`,
    `{"a":{${HIDDEN}},"b":[[{${HIDDEN}}]],"c":null,"then":{"then":1}}`,
  ])('leaves members called like those of every object where they are: %s', async (text) => {
    const body = await read(text);
    expect(JSON.parse(JSON.stringify({ ...(body as object) }))).toEqual(JSON.parse(text));
    expect(JSON.stringify(Object.keys(body as object).sort())).toContain(Object.keys(JSON.parse(text) as object)[0]);
    expect(body).toBeInstanceOf(OpenBody);
    expect([Reflect.get({}, 'x'), Reflect.get(OpenBody.prototype, 'x')]).toEqual([undefined, undefined]);
  });

  it('finds faults behind such members too', async () => {
    await expect(read(`{"name":5,${HIDDEN}}`)).rejects.toMatchObject({ param: 'name' });
    await expect(read(`{"item":{"size":"x",${HIDDEN}}}`)).rejects.toMatchObject({ param: 'item.size' });
    expect(Reflect.get((await read(`{"item":{"size":1,${HIDDEN}}}`)) as object, 'item')).toBeInstanceOf(Item);
  });

  it.each([
    ['{"nmae":"x"}', 'nmae'],
    ['{"name":"x","constructor":{}}', 'constructor'],
    ['{"__proto__":{"name":"x"}}', '__proto__'],
  ])('refuses %s for a body that may hold nothing else, naming %s', async (text, param) => {
    await expect(read(text, NarrowBody)).rejects.toMatchObject({
      ...{ code: 'invalid_request', param, message: `${param}: there is no such parameter` },
    });
  });
});
