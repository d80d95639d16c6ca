import { AttemptsFile } from './attempts.file.js';
import { CacheFile } from './cache.file.js';
import { CallerFile } from './caller.file.js';
import { ConversationsFile } from './conversations.file.js';
import { IssuerFile } from './issuer.file.js';
import { LedgerFile } from './ledger.file.js';
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

  @Mapping(() => CacheFile)
  cache: CacheFile = new CacheFile();

  @Mapping(() => LedgerFile)
  ledger: LedgerFile = new LedgerFile();

  @Mapping(() => ConversationsFile)
  conversations: ConversationsFile = new ConversationsFile();

  @MappingList(() => CallerFile, 0)
  callers: CallerFile[] = [];

  @MappingList(() => IssuerFile, 0)
  issuers: IssuerFile[] = [];
}
