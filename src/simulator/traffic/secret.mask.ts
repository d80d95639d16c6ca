/** A secret as it may be shown: its last four characters. */
export function maskSecret(text: string): string {
  return text.replace(/(?<!\S)\S{5,}$/, (secret) => `…${secret.slice(-4)}`);
}
