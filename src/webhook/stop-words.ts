/**
 * Words with which people say that they do not want to be written to, and the other way round. Spelling as in
 * `meaning-fold.ts`: case, accents, spaces and hyphens do not count. English words are those that US law names for
 * every sender (47 CFR 64.1200, since April 2025), with those that providers act upon themselves (docs/replies.md has
 * both).
 */

/** These opt out as a whole text, and as the first word of a short one: `STOP please`, `STOP spring-sale`. */
export const STOP_WORDS: readonly string[] = [
  ...words('stop, stop all, opt out, opt me out, unsubscribe, unsubscribe me, unsub'),
  // As people misspell it.
  ...words('unsuscribe, unsubcribe, unsubscrib, unsubsribe, stoppp'),
  ...words('arrêt, arrête, arrêtez, arrêter, arrett, désabonner, désabonnement, désinscrire, désinscription'),
  ...words('stopp, abmelden, abmeldung, abbestellen, austragen, stoppen'),
  ...words('detener, desuscribir, desuscribirse, darme de baja, dar de baja'),
  ...words('descadastrar, descadastre, cancelar inscrição'),
  ...words('disiscrivi, disiscrivimi, disiscrizione, cancellami'),
  ...words('afmelden, uitschrijven'),
  ...words('stoppa, avregistrera, avmeld, avslutt, afmeld, frameld'),
  ...words('lopeta, peru tilaus'),
  ...words('zatrzymaj, wypisz, rezygnuję, odhlásit, leiratkozás, leiratkozom, leiratkozni'),
  ...words('dezabonare, dezabonez, odjava, odjavi, отписване, одјава'),
  ...words('стоп, остановить, отписаться, отписка, отпишите, відписатися, відписка'),
  ...words('στοπ, διαγραφή, απεγγραφή'),
  ...words('üyelikten çık, abonelikten çık, durdur'),
  ...words('הסר, הסירו, הסרה'),
  ...words('إلغاء الاشتراك, أوقف, إيقاف'),
  ...words('退订, 退訂, 取消订阅, 取消訂閱, 拒收, 配信停止, ストップ, 수신거부'),
  ...words('unreg, berhenti, huỷ đăng ký, từ chối'),
];

/** These opt out only as a whole text, because other sentences begin with them: `cancel my order`, `end of May`. */
export const WHOLE_STOP_WORDS: readonly string[] = [
  ...words('cancel, end, quit, revoke, remove, remove me, halt, td, leave me alone'),
  ...words('cancel all, end all, quit all, cancel subscription, end subscription, no more messages, no more texts'),
  ...words('aufhören, aufhoeren, kündigen, keine nachrichten mehr, keine sms mehr'),
  ...words('baja, salir, cancelar, parar, no más mensajes, plus de messages, plus de sms, résilier'),
  ...words('sair, remover, pare'),
  ...words('ferma, annulla, basta messaggi, opzeggen, geen berichten meer'),
  ...words('sluta, avsluta, stans, poistu, peruuta, anuluj, zrušit, atura'),
  ...words('ret, iptal, çıkış, отмена, διακοπή'),
  ...words('הפסק, توقف, إلغاء, قف, لغو'),
  ...words('停止, 取消, 解除, 退会, 退會, 중지, 그만, หยุด, ยกเลิก, बंद, बंद करो, रोकें'),
  ...words('itigil, staak, atsisakau, atteikties, loobun'),
];

/** These opt in again, as a whole text only. `YES` is not among them: it answers too many questions. */
export const START_WORDS: readonly string[] = [
  ...words('start, unstop, begin, resume, revert, restart, subscribe, resubscribe, opt in, opt me in, start all'),
  ...words('nonarret, démarrer, reprendre, réabonner, anmelden, starten, aanmelden'),
  ...words('iniciar, comenzar, reanudar, suscribir, começar, retomar, inizia, iscrivimi, riprendi'),
  ...words('starta, börja, aloita, zacznij, wznów, старт, начать, возобновить, подписаться, έναρξη, başla'),
  ...words('ابدأ, اشترك, התחל, 订阅, 訂閱, 开始, 開始, 再開, 시작'),
];

/** Around one of the words above they change nothing: `please stop`. */
export const POLITE_WORDS: readonly string[] = [
  ...words('please, pls, plz, thanks, thank you, thx, ty, now, bitte, danke, svp, stp, merci, por favor, gracias'),
  ...words("s'il vous plaît, s'il te plaît, obrigado, obrigada, per favore, per cortesia, grazie, alstublieft, aub"),
  ...words('tack, takk, tak, kiitos, proszę, dziękuję, prosím, děkuji, kérem, köszönöm, mulțumesc, hvala, molim'),
  ...words('пожалуйста, спасибо, будь ласка, παρακαλώ, ευχαριστώ, lütfen, teşekkürler, בבקשה, תודה, شكرا'),
  ...words('请, 請, 谢谢, 謝謝, お願いします, ください, 부탁합니다, tolong, terima kasih'),
];

/** Wordings of longer texts that somebody has to read, because the person may mean it. */
export const REVIEW_WORDINGS: readonly string[] = [
  ...words(
    'no more messages, no more texts, no more emails, no more sms, remove me, take me off, opt me out, remove my number, delete my data',
  ),
  ...words('leave me alone, not interested, wrong number, wrong person, do not contact, dont contact, do not text'),
  ...words('dont text, do not message, dont message, do not email, dont email, do not write, who is this, who are you'),
  ...words('spam, harassment, report you, gdpr, lawyer, dont want these, cease and desist'),
  ...words('nicht mehr schreiben, keine nachrichten, keine sms, kein interesse, falsche nummer, wer sind sie, dsgvo'),
  ...words('ne plus recevoir, plus de messages, plus de sms, pas intéressé, mauvais numéro, rgpd'),
  ...words('no quiero recibir, no me interesa, número equivocado, no más mensajes, borrar mi, quién es'),
  ...words('não quero receber, número errado, não tenho interesse, non voglio ricevere, numero sbagliato'),
  ...words('geen interesse, verkeerd nummer, inte intresserad, fel nummer, nie chcę, не пишите, больше не'),
];

/** Words that mean it beside one of `WHOLE_STOP_WORDS`: `please cancel all these texts`. */
export const MESSAGE_WORDS: readonly string[] = [
  ...words('message, messages, messaging, text, texts, texting, sms, email, emails, mail, mails, mailing, newsletter'),
  ...words('subscription, marketing, list, notifications, alerts, reminders, contact, contacting, nachrichten'),
  ...words('mensajes, mensagens, messaggi, berichten, meldinger, meddelanden, viestit, wiadomości, сообщения'),
];

function words(list: string): readonly string[] {
  return list.split(', ');
}
