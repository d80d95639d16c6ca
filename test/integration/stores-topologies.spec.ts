import { describeStoresAcross } from '../contract/stores.topology.js';
import { isFullProof } from '../support/proof-scale.js';
import { startCluster, startSentinel } from '../support/redis-kinds.js';

describeStoresAcross('Cluster', startCluster);
if (isFullProof) describeStoresAcross('Sentinel', startSentinel);
