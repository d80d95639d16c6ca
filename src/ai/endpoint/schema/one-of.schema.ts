import { getSchemaPath } from '@nestjs/swagger';
import type { Schema } from '../../../http/index.js';

/** Alternatives that one member tells apart. */
export function oneOf(propertyName: string, names: Readonly<Record<string, string>>): Schema {
  return {
    oneOf: [...new Set(Object.values(names))].map((name) => ({ $ref: getSchemaPath(name) })),
    discriminator: {
      propertyName,
      mapping: Object.fromEntries(Object.entries(names).map(([value, name]) => [value, getSchemaPath(name)])),
    },
  };
}

/** One of such alternatives: an object that says by its `type` what it is. */
export function variant(type: string, properties: Readonly<Record<string, Schema>>): Schema {
  return {
    type: 'object',
    required: ['type', ...Object.keys(properties)],
    properties: { type: { type: 'string', enum: [type] }, ...properties },
    additionalProperties: true,
  };
}
