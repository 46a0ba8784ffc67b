/** Settings of the relay. Each comes from an environment variable; only the cut-over has no default. */
export interface RelayOptions {
  /**
   * `OUTBOX_CUT_OVER_AT`, an ISO time: the instant from which the relay delivers. Rows stored before it were delivered by
   * the legacy publish, to subscribers that may not have had their inbox yet; they are never published.
   */
  readonly cutOverAt: Date;
  /** `OUTBOX_BATCH_SIZE`: rows claimed at once. */
  readonly batchSize: number;
  /** `OUTBOX_PUBLISH_TIMEOUT_MS`: how long a batch waits for the broker; the rows are locked that long. */
  readonly publishTimeoutMs: number;
  /** `OUTBOX_IDLE_MIN_MS` and `OUTBOX_IDLE_MAX_MS`: pause between two looks at an empty outbox, doubled from one to the other. */
  readonly idleMinMs: number;
  readonly idleMaxMs: number;
  /** `OUTBOX_MAX_ATTEMPTS`: after so many failures of its own a message is `failed`. */
  readonly maxAttempts: number;
  /** `OUTBOX_RETRY_DELAY_MS`: pause after a message's first failure; each further one is four times as long, at most five minutes. */
  readonly retryDelayMs: number;
  /** `OUTBOX_BROKER_WAIT_MS` and `OUTBOX_BROKER_WAIT_MAX_MS`: pause while a broker is down, doubled from one to the other. */
  readonly brokerWaitMs: number;
  readonly brokerWaitMaxMs: number;
  /** `OUTBOX_TIME_LIMIT_MS`: stop cleanly after this time, for a supervisor to start afresh. 0: no limit. */
  readonly timeLimitMs: number;
  /** `OUTBOX_STOP_TIMEOUT_MS`: how long a stop waits for what is in flight. */
  readonly stopTimeoutMs: number;
  /** `OUTBOX_MONITORING_PORT`: where the own process answers `/metrics` and `/healthz`. 0: nowhere. */
  readonly monitoringPort: number;
}

/** Reads the settings; throws with every fault there is. */
export function readRelayOptions(env: Readonly<Record<string, string | undefined>> = process.env): RelayOptions {
  const faults: string[] = [];
  const number = (name: string, fallback: number, least = 1): number => {
    const text = env[name];
    if (text === undefined || text === '') return fallback;
    const value = Number(text);
    if (!Number.isInteger(value) || value < least) faults.push(`${name} is '${text}'; a whole number of at least ${least} is expected.`);
    return value;
  };
  const options: RelayOptions = {
    cutOverAt: readCutOver(env['OUTBOX_CUT_OVER_AT'], faults),
    batchSize: number('OUTBOX_BATCH_SIZE', 100),
    publishTimeoutMs: number('OUTBOX_PUBLISH_TIMEOUT_MS', 5_000),
    idleMinMs: number('OUTBOX_IDLE_MIN_MS', 100),
    idleMaxMs: number('OUTBOX_IDLE_MAX_MS', 1_000),
    maxAttempts: number('OUTBOX_MAX_ATTEMPTS', 5),
    retryDelayMs: number('OUTBOX_RETRY_DELAY_MS', 1_000),
    brokerWaitMs: number('OUTBOX_BROKER_WAIT_MS', 1_000),
    brokerWaitMaxMs: number('OUTBOX_BROKER_WAIT_MAX_MS', 30_000),
    timeLimitMs: number('OUTBOX_TIME_LIMIT_MS', 0, 0),
    stopTimeoutMs: number('OUTBOX_STOP_TIMEOUT_MS', 10_000),
    monitoringPort: number('OUTBOX_MONITORING_PORT', 9_464, 0),
  };
  if (faults.length > 0) throw new Error(`The outbox relay does not start. ${faults.join(' ')}`);
  return options;
}

function readCutOver(text: string | undefined, faults: string[]): Date {
  const instant = new Date(text ?? '');
  if (!text) {
    faults.push('OUTBOX_CUT_OVER_AT is not set. Do the cut-over first, then set the instant that it prints.');
  } else if (Number.isNaN(instant.getTime()) || !/(?:Z|[+-]\d{2}:?\d{2})$/.test(text)) {
    faults.push(`OUTBOX_CUT_OVER_AT is '${text}'; an ISO time with its zone is expected, such as '2031-05-01T10:00:00Z'.`);
  } else if (instant.getTime() > Date.now() + 60_000) {
    faults.push(`OUTBOX_CUT_OVER_AT is '${text}', in the future: what is stored until then would never be published.`);
  }
  return instant;
}
