/** Exit codes of every command (README, "Exit codes"). */
export const exitCode = {
  /** Clean, or done. */
  ok: 0,
  /** Findings, a gate that is not met, a refusal, a failed check. */
  findings: 1,
  /** Usage or tool error. */
  error: 2,
  /** Cancelled by the user. */
  cancelled: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
