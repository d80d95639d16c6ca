/** Text that breaks where bytes are handled carelessly: two to four bytes, combining marks, a joined family, right to left. */
export const EXACT_TEXT = 'naïve e\u0301te\u0301 你好，世界 😀👩‍👩‍👧‍👦🇨🇭 שלום — "quoted" \\ back\n\tend €';

/** The smallest picture there is, 1 × 1. */
export const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Arguments of a weather tool. */
export const WEATHER_PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};

/** A schema for which `{}` is valid too. */
export const CITY_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const }, people: { type: 'integer' as const, minimum: 1 } },
};
