export type LogFields = Readonly<Record<string, unknown>>;
export type Log = (level: 'info' | 'warn' | 'error', event: string, fields?: LogFields) => void;

/** One JSON object per line on standard output. */
export const jsonLog: Log = (level, event, fields = {}) => {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), level, event: `outbox-relay.${event}`, ...fields })}\n`);
};
