import { AttemptsFile } from './attempts.file.js';
import { CallerFile } from './caller.file.js';
import { ModelFile } from './model.file.js';
import { ProviderFile } from './provider.file.js';
import { Mapping, MappingList } from './shape.js';
import { TiersFile } from './tiers.file.js';

/** The whole of coordinator.yaml. */
export class CoordinatorFile {
  @MappingList(() => ProviderFile, 1)
  providers!: ProviderFile[];

  @MappingList(() => ModelFile, 1)
  models!: ModelFile[];

  @Mapping(() => TiersFile)
  tiers!: TiersFile;

  @Mapping(() => AttemptsFile)
  attempts: AttemptsFile = new AttemptsFile();

  @MappingList(() => CallerFile, 0)
  callers: CallerFile[] = [];
}
