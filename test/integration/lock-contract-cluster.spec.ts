import { describeLocksAcross } from '../contract/lock.topology.js';
import { startCluster } from '../support/redis-kinds.js';

describeLocksAcross('Cluster', startCluster);
