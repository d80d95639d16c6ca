/** A text to encode, or tokens that are known: overhead is scaled by the model's ratio, attachments are not. */
export type CountedPart = string | { readonly overhead: number; readonly attachment: number };

export function overhead(tokens: number): CountedPart {
  return { overhead: tokens, attachment: 0 };
}

export function attachment(tokens: number): CountedPart {
  return { overhead: 0, attachment: tokens };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
