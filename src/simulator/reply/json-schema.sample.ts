import { isObject, type JsonObject } from '../request/json.checks.js';
import { sampleNumber, sampleString } from './json-scalar.sample.js';
import type { SeededRandom } from './seeded.random.js';

/** Below this depth only what a schema demands is filled in, so that recursive schemas end. */
const FULL_DEPTH = 4;
/** Below this depth nothing more is filled in: only a schema without any finite value gets here. */
const MAX_DEPTH = 40;
const MAX_ITEMS = 100;
/** Steps after which nothing more is filled in: a schema can name itself without end, or branch a hundredfold at every level. */
const MAX_STEPS = 5_000;

/**
 * A value that is valid for the schema: types, enum, const, $ref into the same document, anyOf, oneOf, allOf, nested objects and arrays,
 * bounds and common formats. A `pattern` is met on a best effort.
 */
export function sampleJson(schema: JsonObject, random: SeededRandom): unknown {
  return new SchemaSampler(schema, random).sample(schema, 0);
}

class SchemaSampler {
  private steps = 0;

  constructor(
    private readonly root: JsonObject,
    private readonly random: SeededRandom,
  ) {}

  sample(unresolved: unknown, depth: number): unknown {
    if (!isObject(unresolved) || depth > MAX_DEPTH || this.isSpent()) {
      return this.random.pick(['alpha', 'beta', 'gamma']);
    }
    const schema = this.chosen(this.resolved(unresolved), depth);
    if ('const' in schema) {
      return schema['const'];
    }
    if (Array.isArray(schema['enum']) && schema['enum'].length > 0) {
      return this.random.pick<unknown>(schema['enum']);
    }
    return this.byType(schema, depth);
  }

  private byType(schema: JsonObject, depth: number): unknown {
    switch (typeOf(schema)) {
      case 'object':
        return this.object(schema, depth);
      case 'array':
        return this.array(schema, depth);
      case 'integer':
        return sampleNumber(schema, true, this.random);
      case 'number':
        return sampleNumber(schema, false, this.random);
      case 'boolean':
        return this.random.next() < 0.5;
      case 'null':
        return null;
      default:
        return sampleString(schema, this.random);
    }
  }

  private object(schema: JsonObject, depth: number): JsonObject {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
    const names = new Set<string>(required.filter((name) => typeof name === 'string'));
    if (depth < FULL_DEPTH) {
      Object.keys(properties).forEach((name) => names.add(name));
    }
    const others = isObject(schema['additionalProperties']) ? schema['additionalProperties'] : { type: 'string' };
    // fromEntries defines members: a property called __proto__ stays one.
    return Object.fromEntries(
      [...names].map((name) => [
        name,
        this.sample(Object.hasOwn(properties, name) ? properties[name] : others, depth + 1),
      ]),
    );
  }

  private array(schema: JsonObject, depth: number): readonly unknown[] {
    const prefix: readonly unknown[] = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    const least = Math.max(numberOr(schema['minItems'], 0), prefix.length);
    const most = Math.min(numberOr(schema['maxItems'], MAX_ITEMS), MAX_ITEMS);
    const length = Math.min(depth < FULL_DEPTH ? Math.max(least, 1) : least, most);
    const items: unknown[] = [];
    const seen = new Set<string>();
    for (let tries = 0; items.length < length && tries < MAX_ITEMS * 10; tries += 1) {
      const item = this.sample(prefix[items.length] ?? schema['items'], depth + 1);
      const key = JSON.stringify(item);
      if (schema['uniqueItems'] !== true || !seen.has(key)) {
        seen.add(key);
        items.push(item);
      }
    }
    return items;
  }

  /** Follows `$ref` and folds `allOf` in. */
  private resolved(unresolved: JsonObject): JsonObject {
    let schema = unresolved;
    while (!this.isSpent()) {
      const { $ref: reference, ...siblings } = schema;
      if (typeof reference !== 'string') {
        break;
      }
      schema = { ...this.pointedAt(reference), ...siblings };
    }
    const { allOf, ...own } = schema;
    return Array.isArray(allOf) && !this.isSpent()
      ? allOf.filter(isObject).reduce((sum, each) => merged(sum, this.resolved(each)), own)
      : schema;
  }

  private isSpent(): boolean {
    this.steps += 1;
    return this.steps > MAX_STEPS;
  }

  private pointedAt(reference: string): JsonObject {
    let place: unknown = this.root;
    for (const step of reference.split('/').slice(1)) {
      const key = unescaped(step).replaceAll('~1', '/').replaceAll('~0', '~');
      place = isObject(place) ? place[key] : undefined;
    }
    return isObject(place) ? place : {};
  }

  /** One alternative of anyOf or oneOf: the first, or deep down the first that ends a recursion. */
  private chosen(schema: JsonObject, depth: number): JsonObject {
    const { anyOf, oneOf, ...own } = schema;
    const alternatives = [anyOf, oneOf]
      .flatMap((each): readonly unknown[] => (Array.isArray(each) ? each : []))
      .filter(isObject);
    const [first] = alternatives;
    if (first === undefined || this.isSpent()) {
      return schema;
    }
    const ending = alternatives.find((each) =>
      ['null', 'string', 'number', 'integer', 'boolean'].includes(typeOf(each)),
    );
    const choice = depth >= FULL_DEPTH ? (ending ?? first) : first;
    return this.chosen(merged(own, this.resolved(choice)), depth);
  }
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    // A stray % is no encoding.
    return step;
  }
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  if (Array.isArray(type)) {
    return String(type.find((each) => each !== 'null') ?? 'null');
  }
  if (typeof type === 'string') {
    return type;
  }
  if ('properties' in schema) {
    return 'object';
  }
  return 'items' in schema || 'prefixItems' in schema ? 'array' : '$ref' in schema ? 'reference' : 'string';
}

function merged(one: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...objectOr(one['properties']), ...objectOr(other['properties']) };
  const required = [one['required'], other['required']].flatMap((each): readonly unknown[] =>
    Array.isArray(each) ? each : [],
  );
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
