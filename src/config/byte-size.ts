import { ValueError } from './configuration-error.js';

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1_024, mb: 1_048_576, gb: 1_073_741_824 };
const LARGEST = 1_073_741_824;

/**
 * Bytes from `32mb`, `512kb`, `1gb` (powers of 1,024, any case) or a plain number of bytes; 1 kb to 1 gb.
 *
 * @throws ValueError for anything else
 */
export function parseByteSize(text: string): number {
  const [, amount, unit] = /^(\d{1,10})\s*(b|kb|mb|gb)?$/.exec(text.trim().toLowerCase()) ?? [];
  const bytes = Number(amount) * (UNITS[unit ?? 'b'] ?? Number.NaN);
  if (!(bytes >= 1_024 && bytes <= LARGEST)) {
    throw new ValueError('must be a size from 1kb to 1gb, such as 32mb, 512kb or a number of bytes');
  }
  return bytes;
}
