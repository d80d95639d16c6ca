/** The number rises with the format of what is kept, so that pods of two versions don't read each other. */
const VERSION = 1;

/** What lies on one shelf shares one hash tag, and with it a slot. */
export interface ShelfKeys {
  readonly answers: string;
  readonly ends: string;
  flight(name: string): string;
  /** Where those who wait for a flight find what they are told. */
  told(token: string): string;
}

/** @param shelf - of this module's own making, without braces and colons, as are the names of flights and tokens */
export function shelfKeys(prefix: string, shelf: string): ShelfKeys {
  const tag = `${prefix}an:{${shelf}}:${String(VERSION)}:`;
  return {
    answers: `${tag}answers`,
    ends: `${tag}ends`,
    flight: (name) => `${tag}flight:${name}`,
    told: (token) => `${tag}told:${token}`,
  };
}

/** Before the name of a process; together its channel. */
export function channelPrefix(prefix: string): string {
  return `${prefix}an:${String(VERSION)}:`;
}
