/** True for a browser's origin exactly as it is sent: scheme, host, port, and nothing behind. `null` is nobody's, and patterns match nothing. */
export function isOrigin(text: string): boolean {
  return !text.includes('*') && URL.canParse(text) && new URL(text).origin === text;
}
