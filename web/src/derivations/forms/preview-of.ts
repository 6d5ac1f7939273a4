/** The derivation that a preview computes. */
export interface PreviewOf {
  readonly file: string
  readonly text: string
  /** The text of a contract that is not saved, such as one with a further field; null for the present one. */
  readonly contractText: string | null
  readonly actor: string
}
