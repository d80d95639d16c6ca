const WHOLE = /^-?\d{1,16}$/;

/** What stands between the bars. @throws TypeError where there are more or fewer */
export function fieldsOf(text: string, count: number): readonly string[] {
  const fields = text.split('|');
  if (fields.length !== count) throw new TypeError(`${JSON.stringify(text)} has not ${count} fields`);
  return fields;
}

/** @throws TypeError */
export function wholeNumber(text: string | undefined): number {
  if (text === undefined || !WHOLE.test(text)) throw new TypeError(`${JSON.stringify(text)} is no whole number`);
  return Number(text);
}

/** Separated by commas; '' is none. @throws TypeError */
export function wholeNumbers(text: string | undefined): readonly number[] {
  return text === '' ? [] : (text ?? '-').split(',').map(wholeNumber);
}

/** What one of the words is. @throws TypeError */
export function oneOf<Word extends string>(words: readonly Word[], text: string | undefined): Word {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new TypeError(`${JSON.stringify(text)} is none of ${words.join(', ')}`);
  return word;
}

/** A measured number as one that can be kept: whole, not negative, and 0 for what is none. */
export function wholeOf(value: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER) : 0;
}
