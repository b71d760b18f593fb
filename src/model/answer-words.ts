/*
 * By these names and words the body of a 2xx says no (docs/reference/answers.md). Letter case, accents, hyphens, underscores
 * and spaces do not count. `error*` is each word that begins so.
 */

/** Names of fields, by what their values say. */
export const ANSWER_NAMES = {
  /** Anything but null, false, 0, a success word or what is empty says no. */
  error:
    words(`error* err errs errcode errmsg errno haserror haserrors iserror messageerrorcode requesterror serviceexception
    exception* fault* fail failed* failure* failcode failreason reject* refus* invalid* totalrejected*
    validationerrors`),
  /** False, 0, a word for false and an empty list say no. */
  success: words(`success successful succeeded issuccess issuccessful ok accepted isaccepted sent issent valid return`),
  /** A word or a number: see `ANSWER_WORDS`. An object holds them under these names, and under those of `inStatus`. */
  status:
    words(`status statuscode statusname statustext stat state result outcome messagestatus deliverystatus sendstatus
    responsestatus requeststatus resultstatus`),
  inStatus: words(`groupname name type value code`),
  /** A number or a word for success; anything else says no, also beside an id. */
  code: words(`code responsecode respcode resultcode retcode returncode httpcode httpstatus rc`),
  /** Only a word for a refusal, `error`, `fail`, `failure`, `fault` or `exception` says no, and only alone. */
  type: words(`type response reply answer`),
  /** 0 says no. */
  count: words(`messagecount acceptedcount successcount totalaccepted totalacceptedrecipients`),
  /** A list of entries: it says no when it is empty, and what an entry says counts. */
  list: words(`messages recipients results data items list entries responses response result`),
  /** The same, but an empty one says nothing. */
  otherList: words(`to contacts destinations numbers sms smses statuses sendstatusset message`),
  /** An object that holds the answer. One that is alone in its object does too, whatever its name. */
  envelope: words(`data response result results payload body message messages recipients sms`),
  /** A text whose words say no, in an answer that holds nothing but such texts and what `besideText` names. */
  text: words(`message msg detail details description reason info title`),
  besideText: words(`timestamp time date requestid traceid path instance type`),
} as const;

/** Words as values of these fields, in many languages. */
export const ANSWER_WORDS = {
  /** The message was taken, or is on its way. Numbers: 0, 200 to 299, and zeros behind up to three letters (`ER-00`). */
  success:
    words(`accept* acknowledged buffered complete* confirmed created deliver* dispatched done enqueued enroute finished good
    initiated new noerror noerrors normal notstarted ok okay ongoing pending planned posted process* progress
    published queue* read ready receiv* released routed running scheduled sending sent started stored submit* succe*
    transmitted true valid waiting yes geaccepteerd verzonden wachtrij attente envoye* planifie* recu angenommen
    akzeptiert ausstehend erfolg* geplant gesendet versendet warteschlange wartend accettat* attesa inviat* przyjet*
    wyslan* sukces aceit* agendad* enviad* pendente sucesso aceptad* cola encolad* exito exitos* pendiente programad*
    skickat godkand basarili gonderildi kabul отправлен* принят* успех успешн* очеред* ожида* доставлен* 成功 已发送
    已發送 已接受 已提交 受理 送信済 送信中 성공 접수 대기 نجاح مقبول`),
  /** The message to this recipient was refused: alone, they refuse the one recipient of a request. */
  refused:
    words(`rejected refused declined failed undeliverable undelivered undeliverablenotdelivered invalid invalidnumber
    invalidphonenumber invalidmsisdn invalidrecipient invaliddestination invalidaddress notsent notaccepted
    notdelivered unsent bounced blocked blacklisted barred suppressed unsubscribed optedout optout dropped
    sendingfailed deliveryfailed geweigerd mislukt refuse rejete echoue abgelehnt fehlgeschlagen zuruckgewiesen
    rifiutato fallito odrzucono odrzucony rejeitado rejeitada recusado recusada falhou rechazado rechazada fallido
    fallida avvisad misslyckad reddedildi отклонено отклонен отклонена 拒绝 拒絕 拒否 거부 مرفوض`),
  /** They say no, alone or in a longer word (`SEND_ERROR`, `Not enough credits`), but not that it is about the recipient. */
  error:
    words(`abort* absent abuse* bad banned barred black* block* bounc* busy cancel* complain* conflict crash* declin* delet*
    denied deny disabled discard* down draft drop* duplicat* err error* errone* exceed* exception* exhaust* expir*
    fail* false fatal fault* forbidden fraud* frozen ignored illegal impossible inactive incomplete incorrect
    inexistent insufficient* insuficient* insuffis* invalid* ko limit limited lost low malformed misconfigured missed missing nack nok off
    opted overload* overquota partial* paused problem prohibited quota refus* reject* restricted revoked skipped spam
    stopped suppress* suspended terminated throttl* timed timeout unable unaccept* unauth* unavailable undeliver*
    unpaid unprocess* unreach* unregistered unroutable unsent unsubscribed unsuccess* unsupported unverif* violat*
    wrong not no non never cannot couldn didn doesn isn wasn won without nicht kein* nein ohne ne pas sans nao sem sin
    senza nie bez niet geen zonder inte ikke utan uden uten не нет без 未 不 没 沒 않 لم لا fout* geweigerd mislukt
    ongeldig geblokkeerd echec echou* erreur* rejet* bloque* abgelehnt abgewiesen erfolglos fehler* fehlgeschlagen
    fehlschlag gescheitert gesperrt ungultig ungueltig unzustellbar verweigert zuruckgewiesen blockiert bloccat*
    errore errori fallit* negato rifiut* scadut* blad bledn* niepowodzenie nieudan* niepraw* odrzu* odmow* bloquead*
    erro erros falha* falho* negad* recus* rejeit* denegad* falla fallad* fallid* fallo fracas* rechaz* rehus* vencid*
    avbrut* avvis* fel felaktig* misslyck* nekad* ogiltig* feil* fejl* mislyk* ugyldig* basarisiz* gecersiz hata*
    engellendi redded* chyba zamit* selhal* virhe* hylat* epaonnist* eroare respins* hiba sikertelen gagal ditolak loi
    thatbai tuchoi αποτυχ* απορρ* σφαλμα ошиб* отклон* отказ* запрещ* заблок* недост* неверн* недейств* неудач*
    неуспе* сбой помил* відхил* 失败 失敗 错误 錯誤 拒 无效 無效 無効 异常 異常 エラー 실패 거부 오류 فشل خطأ مرفوض
    विफल असफल अस्वीकृत त्रुटि`),
} as const;

/** Codes that say that the recipient cannot receive the channel, in an answer of the API and in a delivery report. */
export const UNSUPPORTED_CODES =
  words(`channelnotsupported unsupportedchannel channelunsupported channelnotsupportedbyrecipient
  recipientchannelnotsupported recipientinvalidchannelidentity recipientnotreachableonchannel nochannelsleft
  notrcsenabled rcsnotsupported rcsnotenabled nochannelleft notrcscapable nocapability channelcapabilitymissing`);

/** Where an answer, or the entry of a recipient in it, has such a code. The order counts. */
export const CODE_PLACES =
  words(`/code /errorCode /error_code /reason /error/code /error/errorCode /error/reason /error/name /error /errors/0/code
  /errors/0/errorCode /errors/0/reason /requestError/code /requestError/serviceException/messageId /status/name /type`);

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}
