import type { Result } from '../../../errors/result.ts'

/** A script file as it was hashed: these bytes are run, whatever the file has become. */
export interface ScriptFile {
  /** The path from the sheet's directory, such as `scripts/country_code.py`. */
  readonly path: string
  readonly bytes: Uint8Array
  /** Hex SHA-256 of the bytes. */
  readonly sha256: string
}

/** A process to start. */
export interface ScriptStart {
  readonly script: ScriptFile
  /** The arguments after the path of the sheet. */
  readonly args: readonly string[]
  /** The environment variables that the derivation lists, beside those of every script. */
  readonly env: { readonly [name: string]: string }
  /** The most seconds of processor time for each of its processes; null for no bound. */
  readonly cpuSeconds: number | null
  /** Receives what the process writes to standard output, from after {@link ScriptHost.start} until `ended`. */
  onOutput(chunk: Buffer, process: ScriptProcess): void
  /** Called when the process has received all that was written to it. */
  readonly onDrain?: () => void
}

/** The end of a process and of all its children. */
export interface ScriptEnd {
  /** Its exit status; 128 and more after a signal. */
  readonly status: number
  /** The end of standard error as it was written, up to 16 KiB: to be searched for secrets, not to be shown. */
  readonly stderr: string
  /** The same, with the paths of the machine replaced. */
  readonly shown: string
}

/** A process of a script. */
export interface ScriptProcess {
  /** Settles when the process has ended and all its output was received. Never rejects. */
  readonly ended: Promise<ScriptEnd>
  /** Writes to its standard input; without effect once it has ended. */
  readonly write: (text: string) => void
  /** The bytes written to it that it has not received yet. */
  readonly unread: number
  /** Closes its standard input. */
  readonly closeInput: () => void
  /** Kills it with all its children; without effect once it has ended. */
  readonly kill: () => void
}

/** Runs scripts, as this machine allows and confines them. */
export interface ScriptHost {
  /** The way in which scripts are confined, for provenance. */
  readonly confinement: string
  /** The most processes of scripts at a time. */
  readonly concurrency: number
  /** The reason why scripts are not run; null if they are. */
  readonly refusal: string | null
  /** Starts a process. Returns the reason as text if this machine cannot, such as a missing interpreter. */
  start(start: ScriptStart): Promise<Result<ScriptProcess, string>>
}
