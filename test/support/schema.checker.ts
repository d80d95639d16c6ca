/** A JSON value. */
export type Json = Readonly<Record<string, unknown>>;

type Check = (value: unknown, schema: Json, checker: SchemaChecker) => readonly string[];

/** What says nothing about which values are right. */
const ANNOTATIONS = new Set(['description', 'example', 'default', 'nullable', 'discriminator']);

const FORMATS: Readonly<Partial<Record<string, RegExp>>> = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/,
};

/** Each keyword of OpenAPI 3.0's schemas that the document uses; one that is not here is a fault of the document's or a gap to close. */
const CHECKS: Readonly<Record<string, Check>> = {
  type: (value, { type }) => told(isOfType(value, String(type)), `is no ${String(type)}`),
  enum: (value, schema) => told(list(schema['enum']).includes(value), 'is none of the values'),
  format: (value, { format }) => told(FORMATS[String(format)]?.test(String(value)) === true, `is no ${String(format)}`),
  pattern: (value, { pattern }) => told(new RegExp(String(pattern)).test(String(value)), 'does not match'),
  minimum: (value, { minimum }) => told(Number(value) >= Number(minimum), 'is too small'),
  maximum: (value, { maximum }) => told(Number(value) <= Number(maximum), 'is too large'),
  minLength: (value, { minLength }) => told(String(value).length >= Number(minLength), 'is too short'),
  maxLength: (value, { maxLength }) => told(String(value).length <= Number(maxLength), 'is too long'),
  minItems: (value, { minItems }) => told(list(value).length >= Number(minItems), 'has too few items'),
  maxItems: (value, { maxItems }) => told(list(value).length <= Number(maxItems), 'has too many items'),
  maxProperties: (value, { maxProperties }) =>
    told(Object.keys(record(value)).length <= Number(maxProperties), 'has too many members'),
  required: (value, { required }) =>
    list(required).flatMap((name) => told(Object.hasOwn(record(value), String(name)), `lacks ${String(name)}`)),
  properties: (value, { properties }, checker) =>
    Object.entries(record(properties)).flatMap(([name, schema]) =>
      Object.hasOwn(record(value), name) ? within(name, checker.faults(schema, record(value)[name])) : [],
    ),
  additionalProperties: (value, { additionalProperties, properties }, checker) =>
    Object.entries(record(value))
      .filter(([name]) => additionalProperties !== true && !Object.hasOwn(record(properties), name))
      .flatMap(([name, member]) => within(name, checker.faults(additionalProperties, member))),
  items: (value, { items }, checker) =>
    list(value).flatMap((item, index) => within(String(index), checker.faults(items, item))),
  allOf: (value, { allOf }, checker) => list(allOf).flatMap((schema) => checker.faults(schema, value)),
  oneOf: (value, { oneOf }, checker) => {
    const faults = list(oneOf).map((schema) => checker.faults(schema, value));
    const fits = faults.filter(({ length }) => length === 0).length;
    return told(fits === 1, `fits ${String(fits)} alternatives: ${faults.flat().join('; ')}`);
  },
};

/** Tells where a value does not conform to a schema of an OpenAPI 3.0 document. */
export class SchemaChecker {
  constructor(private readonly document: unknown) {}

  /** @throws Error for a reference that leads nowhere */
  resolve(reference: string): Json {
    const found = reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, name) => record(at)[name], this.document);
    if (found === undefined) throw new Error(`${reference} leads nowhere`);
    return record(found);
  }

  /** Empty: the value conforms. */
  faults(given: unknown, value: unknown): readonly string[] {
    const schema = this.follow(given);
    if (value === null && schema['nullable'] === true) return [];
    return Object.keys(schema).flatMap((keyword) => {
      if (ANNOTATIONS.has(keyword)) return [];
      const check = CHECKS[keyword];
      return check === undefined ? [`: unknown keyword ${keyword}`] : check(value, schema, this);
    });
  }

  /** The object itself, or the one that it refers to. */
  follow(given: unknown): Json {
    const { $ref } = record(given);
    return typeof $ref === 'string' ? this.resolve($ref) : record(given);
  }
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function told(isRight: boolean, fault: string): readonly string[] {
  return isRight ? [] : [`: ${fault}`];
}

function within(name: string, faults: readonly string[]): readonly string[] {
  return faults.map((fault) => `/${name}${fault}`);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function record(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
