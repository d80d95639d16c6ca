import { describeLocksAcross } from '../contract/lock.topology.js';
import { startSentinel } from '../support/redis-kinds.js';

describeLocksAcross('Sentinel', startSentinel);
