import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A certificate for 127.0.0.1, by a CA that nobody else knows. Servers and clients show the same one. */
export interface Certificates {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** What a client of ours is given. */
  readonly shown: { readonly ca: string; readonly cert: string; readonly key: string };
  remove(): Promise<void>;
}

const run = promisify(execFile);
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** @throws {Error} with what openssl wrote */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'certificates-'));
  const file = (name: string): string => join(folder, name);
  const [caFile, caKey, certFile, keyFile] = [file('ca.crt'), file('ca.key'), file('redis.crt'), file('redis.key')];
  const openssl = (...words: string[]): Promise<unknown> => run('openssl', words, { cwd: folder });
  await openssl('req', '-x509', ...NEW_KEY, '-days', '2', '-subj', '/CN=ca', '-keyout', caKey, '-out', caFile);
  await openssl('req', ...NEW_KEY, '-subj', '/CN=localhost', '-keyout', keyFile, '-out', 'redis.csr');
  await writeFile(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const signer = ['-CA', caFile, '-CAkey', caKey, '-CAcreateserial', '-extfile', 'names'];
  await openssl('x509', '-req', '-in', 'redis.csr', ...signer, '-days', '2', '-out', certFile);
  const [ca = '', cert = '', key = ''] = await Promise.all(
    [caFile, certFile, keyFile].map((name) => readFile(name, 'utf8')),
  );
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { caFile, certFile, keyFile, shown: { ca, cert, key }, remove };
}
