{{- define "locus.labels" -}}
app.kubernetes.io/name: locus
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "locus.selector" -}}
app.kubernetes.io/name: locus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "locus.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* No file of a host, no privilege, no other account. */}}
{{- define "locus.security" -}}
allowPrivilegeEscalation: false
runAsNonRoot: true
runAsUser: 1000
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "locus.environment" -}}
- configMapRef:
    name: {{ .Release.Name }}-settings
- secretRef:
    name: {{ .Values.secretName }}
{{- end }}

{{- define "locus.volumes" -}}
- name: data
{{- if .Values.data.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.data.existingClaim }}
{{- else }}
  emptyDir:
    sizeLimit: {{ .Values.data.sizeLimit }}
{{- end }}
{{- end }}

{{- /* Each pod collects its static files and brings the database up to date; they take turns at that. */}}
{{- define "locus.setup" -}}
- name: setup
  image: {{ include "locus.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [python, manage.py, setup]
  envFrom: {{- include "locus.environment" . | nindent 4 }}
  volumeMounts:
    - {name: data, mountPath: /data}
  securityContext: {{- include "locus.security" . | nindent 4 }}
{{- end }}
