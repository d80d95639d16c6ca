const ZERO = 48;
/** A number with a longer exponent is nothing that anybody means; to take it apart would cost more than to read it. */
const LONGEST_EXPONENT = 15;

/**
 * One text for all JSON forms of a number: `1`, `1.0`, `10e-1`. Exact for every length: nothing is rounded, and no form costs more
 * than a look at each of its digits.
 *
 * @param token - a number by JSON's grammar
 */
export function canonicalNumber(token: string): string {
  const isNegative = token.startsWith('-');
  const [mantissa = '', exponent = '0'] = token.slice(Number(isNegative)).toLowerCase().split('e');
  if (exponent.length > LONGEST_EXPONENT) return token;
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  const first = firstNonZero(digits);
  if (first === digits.length) return '0';
  const last = lastNonZero(digits);
  const power = Number(exponent) - fraction.length + digits.length - 1 - last;
  return `${isNegative ? '-' : ''}${digits.slice(first, last + 1)}e${String(power)}`;
}

function firstNonZero(digits: string): number {
  let at = 0;
  while (at < digits.length && digits.charCodeAt(at) === ZERO) at += 1;
  return at;
}

function lastNonZero(digits: string): number {
  let at = digits.length - 1;
  while (at > 0 && digits.charCodeAt(at) === ZERO) at -= 1;
  return at;
}
