import type { HostShare } from '../../store/shared-hosts.ts'

function nothing(): void {}

function isNeverOver(): boolean {
  return false
}

/** The share of a process that is alone in calling a host: all of its limits. */
export const UNSHARED: HostShare = {
  setLimits: nothing,
  hasPermit: () => true,
  slotWait: () => 0,
  begin: nothing,
  end: nothing,
  takeSlot: () => isNeverOver,
  pause: nothing,
  endPause: nothing,
  leave: nothing,
}
