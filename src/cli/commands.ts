import type { ExitCode } from '../core/exit-code.js';
import type {
  CheckOptions, ExplainOptions, InboxOptions, InitOptions, MigrationOptions, OpsOptions, PlanOptions, RelayOptions, RewriteOptions, ScanOptions,
  StatusOptions, WizardOptions,
} from './options.js';

/** One function per command. */
export interface Commands {
  scan(options: ScanOptions): Promise<ExitCode>;
  explain(options: ExplainOptions): Promise<ExitCode>;
  init(options: InitOptions): Promise<ExitCode>;
  plan(options: PlanOptions): Promise<ExitCode>;
  migration(options: MigrationOptions): Promise<ExitCode>;
  rewrite(options: RewriteOptions): Promise<ExitCode>;
  inbox(options: InboxOptions): Promise<ExitCode>;
  relay(options: RelayOptions): Promise<ExitCode>;
  status(options: StatusOptions): Promise<ExitCode>;
  check(options: CheckOptions): Promise<ExitCode>;
  ops(options: OpsOptions): Promise<ExitCode>;
  wizard(options: WizardOptions): Promise<ExitCode>;
}

/** Each command is loaded when it runs: `scan` must not wait for the database libraries or the prompts. */
export const commands: Commands = {
  scan: async (options) => (await import('./scan/index.js')).runScan(options),
  explain: async (options) => (await import('./explain/index.js')).runExplain(options),
  init: async (options) => (await import('./init/index.js')).runInit(options),
  plan: async (options) => (await import('./plan/index.js')).runPlan(options),
  migration: async (options) => (await import('./migration/index.js')).runMigration(options),
  rewrite: async (options) => (await import('./rewrite/index.js')).runRewrite(options),
  inbox: async (options) => (await import('./inbox/index.js')).runInbox(options),
  relay: async (options) => (await import('./relay/index.js')).runRelay(options),
  status: async (options) => (await import('./status/index.js')).runStatus(options),
  check: async (options) => (await import('./check/index.js')).runCheck(options),
  ops: async (options) => (await import('./ops/index.js')).runOps(options),
  wizard: async (options) => (await import('./wizard/index.js')).runWizard(options),
};
