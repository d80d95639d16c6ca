import { describeLocks } from '../contract/lock.contract.js';
import { memoryGround } from '../support/lock-grounds.js';

const ground = memoryGround();

describeLocks('memory', () => ground);
