/** What is to be undone at the end of a campaign, as a test has it: the last registered first. */
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
