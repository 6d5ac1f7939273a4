import { Type, type Static } from 'typebox'

/** A derivation file, and what it comes to. */
export const DerivationAnswer = Type.Object({
  file: Type.String(),
  kind: Type.String(),
  targets: Type.Array(Type.String()),
  inputs: Type.Array(Type.String(), {
    description: 'Fields whose change makes the targets stale, those that are only in placeholders included.',
  }),
  hosts: Type.Array(Type.String(), { description: '`host:port` of those that runs call.' }),
  text: Type.String(),
})
export type DerivationAnswer = Static<typeof DerivationAnswer>

/** Answer of `GET /api/derivations`: each after those it depends on. */
export const DerivationsAnswer = Type.Object({ derivations: Type.Array(DerivationAnswer) })
export type DerivationsAnswer = Static<typeof DerivationsAnswer>

/** Turns derivations into their wire form. */
export function toDerivationsAnswer(
  derivations: readonly { readonly [Member in keyof DerivationAnswer]: Readonly<DerivationAnswer[Member]> }[],
): DerivationsAnswer {
  return {
    derivations: derivations.map(({ targets, inputs, hosts, ...rest }) => ({
      ...rest,
      targets: [...targets],
      inputs: [...inputs],
      hosts: [...hosts],
    })),
  }
}
