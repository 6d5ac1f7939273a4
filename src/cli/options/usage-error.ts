/** A wrong combination of arguments that only the command can detect. Exits with code 2. */
export class UsageError extends Error {}
