/** Cleanup steps of a campaign, as a test has them: they run at its end, the last registered first. */
export class Scope implements AsyncDisposable {
  readonly #steps: (() => unknown)[] = []

  /** Registers a step. */
  after(undo: () => unknown): void {
    this.#steps.push(undo)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const step of this.#steps.splice(0).toReversed()) await step()
  }
}
