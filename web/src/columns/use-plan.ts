import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewContract } from '../../../src/client/definition-client.ts'
import type { ContractChangeAnswer } from '../../../src/wire/definition/contract-changes.ts'
import { ApiError, messageOf } from '../api/api-error.ts'
import type { ContractDocument } from '../api/contract.ts'
import { server } from '../api/server.ts'
import { useActor } from '../state/actor.ts'
import { showError, showSuccess } from '../ui/toasts.tsx'
import { useSettled } from '../ui/use-settled.ts'

const SETTLE_MS = 300

/** Returns a changed contract for the present one. */
export type ContractEdit = (document: ContractDocument) => NewContract

/** A change of the contract, and its effect on the present definition. */
export interface Plan {
  readonly contract: NewContract
  /** The version of the contract for which the effect holds. */
  readonly version: string
  readonly effect: ContractChangeAnswer
}

export interface Planning {
  /** Null until the first plan, and for a change that is refused. */
  readonly plan: Plan | null
  /** The error with which the change is refused; null if it is not. */
  readonly error: Error | null
  /** Whether plan and error are those of the present change. */
  readonly isCurrent: boolean
}

/**
 * Plans a change of the contract with a dry run when `key` has not changed for a moment; null plans nothing. A change with the same key must be
 * the same change.
 */
export function usePlan(key: string | null, edit: ContractEdit): Planning {
  const [actor] = useActor()
  const settled = useSettled(key, SETTLE_MS)
  const isEnabled = key !== null && settled === key
  const { data, error, isPending, isPlaceholderData } = useQuery({
    // Another definition or other records may have another effect.
    queryKey: ['contract', 'plan', settled, actor],
    queryFn: async ({ signal }): Promise<Plan> => {
      const { contract: present, version } = await server.definition.readContract({ signal })
      const contract = edit(present as unknown as ContractDocument)
      const effect = await server.definition.writeContract(contract, {
        dryRun: true,
        ifVersion: version,
        actor,
        signal,
      })
      return { contract, version, effect }
    },
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })
  // While the same change is planned again, as after a lost connection, its last plan stays: a save names the version that it is for.
  const isCurrent = isEnabled && !isPending && !isPlaceholderData
  return {
    plan: key === null || error !== null ? null : (data ?? null),
    error: key === null ? null : error,
    isCurrent,
  }
}

interface SaveOptions {
  /** The numbers of values that may be lost. */
  readonly confirm?: NewContract['confirm']
  /** Called with the effect when the change is made, before the page reads the contract again. */
  readonly onMade?: (effect: ContractChangeAnswer) => void
}

export interface Saving {
  /** Makes a planned change, and reports whether it was made. */
  readonly save: (plan: Plan, text: string, options?: SaveOptions) => Promise<boolean>
  readonly isSaving: boolean
  /** The error of the last attempt. */
  readonly refused: string | null
}

/** Makes changes of the contract as they were planned, each with a message that offers to undo it. */
export function useSaving(): Saving {
  const client = useQueryClient()
  const [actor] = useActor()
  const [isSaving, setIsSaving] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const save: Saving['save'] = async ({ contract, version }, text, { confirm, onMade } = {}) => {
    setIsSaving(true)
    setRefused(null)
    try {
      const effect = await server.definition.writeContract(
        { ...contract, ...(confirm !== undefined && { confirm }) },
        { ifVersion: version, actor },
      )
      const { change } = effect
      onMade?.(effect)
      await client.invalidateQueries({ queryKey: ['contract'], exact: true })
      showSuccess(text, change === null ? null : { name: 'Undo', run: () => void undoChange(change, actor) })
      return true
    } catch (error) {
      const isOutdated = error instanceof ApiError && error.status === 412
      setRefused(
        isOutdated
          ? 'The contract was changed meanwhile. Check the effect below, and save again.'
          : messageOf(error),
      )
      return false
    } finally {
      setIsSaving(false)
      void client.invalidateQueries({ queryKey: ['contract'] })
      void client.invalidateQueries({ queryKey: ['records'] })
    }
  }
  return { save, isSaving, refused }
}

/** Takes back a change; where this would lose values, the page of changes asks first. */
async function undoChange(change: string, actor: string): Promise<void> {
  try {
    await server.definition.revert(change, {}, { actor })
    showSuccess('The change was taken back')
  } catch (error) {
    showError(error, { href: '/contract?tab=changes', name: 'Show the changes' })
  }
}
