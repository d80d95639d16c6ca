/* OTLP's messages (opentelemetry-proto 1.x), as far as they are looked at, from protobuf to the shape that they have in JSON. */

type Leaf = 'string' | 'hex' | 'varint' | 'bool' | 'fixed64' | 'fixed32' | 'double';
interface Field {
  readonly name: string;
  readonly type: Leaf | (() => Message);
  /** Packed: one after the other in one field. */
  readonly many?: 'repeated' | 'packed';
}
type Message = Readonly<Record<number, Field>>;

const one = (name: string, type: Field['type']): Field => ({ name, type });
const many = (name: string, type: Field['type']): Field => ({ name, type, many: 'repeated' });

const ANY: Message = {
  1: one('stringValue', 'string'),
  2: one('boolValue', 'bool'),
  3: one('intValue', 'varint'),
  4: one('doubleValue', 'double'),
  5: one('arrayValue', () => ({ 1: many('values', () => ANY) })),
};
const KEY_VALUE: Message = { 1: one('key', 'string'), 2: one('value', () => ANY) };
const attributes = many('attributes', () => KEY_VALUE);
const RESOURCE: Message = { 1: attributes };
const SCOPE: Message = { 1: one('name', 'string'), 2: one('version', 'string') };

const SPAN: Message = {
  1: one('traceId', 'hex'),
  2: one('spanId', 'hex'),
  3: one('traceState', 'string'),
  4: one('parentSpanId', 'hex'),
  5: one('name', 'string'),
  6: one('kind', 'varint'),
  7: one('startTimeUnixNano', 'fixed64'),
  8: one('endTimeUnixNano', 'fixed64'),
  9: attributes,
  11: many('events', () => ({ 1: one('timeUnixNano', 'fixed64'), 2: one('name', 'string'), 3: attributes })),
  13: many('links', () => ({ 1: one('traceId', 'hex'), 2: one('spanId', 'hex'), 4: attributes })),
  15: one('status', () => ({ 2: one('message', 'string'), 3: one('code', 'varint') })),
};

export const TRACES: Message = {
  1: many('resourceSpans', () => ({
    1: one('resource', () => RESOURCE),
    2: many('scopeSpans', () => ({ 1: one('scope', () => SCOPE), 2: many('spans', () => SPAN) })),
  })),
};

const NUMBER_POINT: Message = { 7: attributes, 4: one('asDouble', 'double'), 6: one('asInt', 'fixed64') };
const HISTOGRAM_POINT: Message = {
  9: attributes,
  4: one('count', 'fixed64'),
  5: one('sum', 'double'),
  6: { name: 'bucketCounts', type: 'fixed64', many: 'packed' },
  7: { name: 'explicitBounds', type: 'double', many: 'packed' },
};
const points = (point: Message): (() => Message) => {
  const data: Message = {
    1: many('dataPoints', () => point),
    2: one('aggregationTemporality', 'varint'),
    3: one('isMonotonic', 'bool'),
  };
  return () => data;
};

export const METRICS: Message = {
  1: many('resourceMetrics', () => ({
    1: one('resource', () => RESOURCE),
    2: many('scopeMetrics', () => ({
      1: one('scope', () => SCOPE),
      2: many('metrics', () => ({
        1: one('name', 'string'),
        2: one('description', 'string'),
        3: one('unit', 'string'),
        5: one('gauge', points(NUMBER_POINT)),
        7: one('sum', points(NUMBER_POINT)),
        9: one('histogram', points(HISTOGRAM_POINT)),
      })),
    })),
  })),
};

/** Fields that are not of the message are passed over. */
export function decode(bytes: Buffer, message: Message): Record<string, unknown> {
  const decoded: Record<string, unknown> = {};
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    const field = message[tag >> 3];
    const raw = reader.raw(tag & 7);
    if (field === undefined) continue;
    const { name, type } = field;
    if (field.many === undefined) decoded[name] = valueOf(raw, type);
    else if (field.many === 'repeated') decoded[name] = [...listOf(decoded[name]), valueOf(raw, type)];
    else decoded[name] = [...listOf(decoded[name]), ...eights(raw).map((piece) => valueOf(piece, type))];
  }
  return decoded;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function eights(raw: Buffer | number): Buffer[] {
  if (!Buffer.isBuffer(raw)) throw new TypeError('a packed field has a length');
  return Array.from({ length: raw.length / 8 }, (_, at) => raw.subarray(at * 8, at * 8 + 8));
}

function valueOf(raw: Buffer | number, type: Field['type']): unknown {
  if (!Buffer.isBuffer(raw)) return type === 'bool' ? raw !== 0 : raw;
  if (typeof type === 'function') return decode(raw, type());
  if (type === 'string') return raw.toString('utf8');
  if (type === 'hex') return raw.toString('hex');
  return type === 'double' ? raw.readDoubleLE() : String(raw.readBigUInt64LE());
}

class Reader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at >= this.bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let power = 1; ; power *= 128) {
      const byte = this.bytes.readUInt8(this.#at);
      this.#at += 1;
      value += (byte & 0x7f) * power;
      if (byte < 0x80) return value;
    }
  }

  raw(wireType: number): Buffer | number {
    if (wireType === 0) return this.varint();
    const length = wireType === 1 ? 8 : wireType === 5 ? 4 : this.varint();
    this.#at += length;
    return this.bytes.subarray(this.#at - length, this.#at);
  }
}
