/** Arguments that do not go together, which only the command itself can tell. Ends it with exit code 2. */
export class UsageError extends Error {}
