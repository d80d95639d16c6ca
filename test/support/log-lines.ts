/** A log destination that keeps what is written to it. */
export class LogLines {
  text = '';

  write(line: string): void {
    this.text += line;
  }

  /** Every line, parsed: a line that is not one JSON object fails the test here. */
  get records(): Record<string, unknown>[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}
