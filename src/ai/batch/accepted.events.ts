/** Whether a client that says so in its Accept would have events (RFC 9110 section 12.5.1): it names them, and JSON no higher. */
export function acceptsEvents(accept = ''): boolean {
  const events = weightOf(accept, 'text/event-stream');
  return events > 0 && events >= weightOf(accept, 'application/json');
}

/** Of a media type that is named; 0: it is not. */
function weightOf(accept: string, type: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return weight === undefined ? 1 : Number(weight);
  }
  return 0;
}
