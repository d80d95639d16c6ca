/**
 * Preloaded into a server under test (`--import`): names that end in `.example` have the address of this machine, as one would that its
 * owner has rebound. Nothing else changes.
 */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const lookup = dns.lookup;

dns.lookup = (name, options, done) => {
  if (!name.endsWith('.example')) lookup(name, options, done);
  else if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};
syncBuiltinESMExports();
