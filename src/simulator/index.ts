export { startSimulator, type Simulator } from './simulator.server.js';
export type { SimulatedModel, SimulatorOptions } from './simulator.options.js';
