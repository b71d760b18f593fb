import type { SenderRule } from '../model.ts';

/**
 * What countries do to alphanumeric senders, by ISO 3166-1. Countries that are not listed take them as they are. The
 * rules change often, and operators of one country differ: `senders` in handbill.yaml comes over this table, and
 * nothing is refused because of it.
 */
export const SENDER_COUNTRIES: Readonly<Record<string, Exclude<SenderRule, 'free'>>> = {
  // Not possible at all, as published by AWS, Telnyx and Bird:
  // https://docs.aws.amazon.com/sms-voice/latest/userguide/sender-id.html
  US: 'refused',
  CA: 'refused',
  PR: 'refused',
  CN: 'refused',

  // Refused or overwritten by some or all operators; commonly known, not published in one place.
  AR: 'refused',
  BE: 'refused',
  BR: 'refused',
  CL: 'refused',
  CO: 'refused',
  CR: 'refused',
  HU: 'refused',
  JP: 'refused',
  KG: 'refused',
  KR: 'refused',
  MX: 'refused',
  MY: 'refused',
  NP: 'refused',
  PE: 'refused',
  TW: 'refused',
  UY: 'refused',
  ZA: 'refused',

  // To be registered before the first message: India (DLT headers) and Singapore as published by AWS.
  IN: 'registered',
  SG: 'registered',

  // To be registered; commonly known, not published in one place. Australia: from 2025/26 on.
  AE: 'registered',
  AU: 'registered',
  EG: 'registered',
  ID: 'registered',
  KE: 'registered',
  LK: 'registered',
  NG: 'registered',
  PH: 'registered',
  RU: 'registered',
  SA: 'registered',
  TR: 'registered',
  VN: 'registered',
};
