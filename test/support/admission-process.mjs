/** A process that takes all places of a scope, waits for as many more, and tells its parent; until somebody kills it. */
import { AdmissionService, RedisAdmissionStore, scopeRules } from '../../dist/admission/index.js';
import { RedisStore } from '../../dist/store/index.js';

const { storeOptions, name, limits, calls } = JSON.parse(process.argv[2]);
const service = new AdmissionService(new RedisAdmissionStore(new RedisStore(storeOptions)));
const scope = { name, rules: scopeRules(limits) };
const common = { scope, kind: 'deployment', flow: 'dying', tokens: 10, holdMs: 60_000 };

for (let call = 0; call < calls; call += 1) {
  const reservation = await service.reserve(common);
  reservation.sent();
}
for (let call = 0; call < calls; call += 1) void service.reserve({ ...common, waitMs: 600_000 });
process.send('full');
